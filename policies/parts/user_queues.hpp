// A queue for each user; the first job of each competes.
#pragma once
#include <algorithm>
#include <vector>

#include "parts/not_yet.hpp"
#include "parts/placer.hpp"
#include "parts/shape_groups.hpp"
#include "parts/shares.hpp"

namespace muster {

/// What becomes of a pass when the job of the user chosen does not fit.
enum class NoFit : uint8_t {
  stop,  ///< nobody else starts (the pseudo code of the DRF paper)
  skip,  ///< that user is left out of the pass and the next is chosen
};
NoFit no_fit_from(const Config& parameters);
Parameter no_fit_parameter(std::string_view fallback);

/// What policies share that choose a user first and then that user's first job (in order of submission). A job that does not fit holds up
/// its own user alone, or with NoFit::stop everybody. `Form` says with `key(now, user, job)` who is chosen: the smallest Share, ties to the
/// user whose first job has the lowest number (submitted first); and is told what users hold by took(now, user, job, amounts) and
/// gave(...). A pass looks once at what each shape asks for, not at each user or job.
template <class Form, class Share> class UserQueues : public Policy {
 public:
  UserQueues(const PolicyInput& in, std::unique_ptr<Placer> placer)
      : sharers_(in.parameters),
        no_fit_(no_fit_from(in.parameters)),
        placer_(std::move(placer)),
        heads_(sharers_.names(in.workload).size()),
        waiting_(in.workload.jobs.size()),
        charged_(in.workload.jobs.size()),
        users_(sharers_.names(in.workload).size()) {
    for (const Shape& s : in.workload.shapes) amounts_.push_back(amounts_of(s));
  }

  void schedule(const View& now, Plan& plan) final {
    fresh_.clear(), gave_back_.clear();
    bool grew = false;  // whether room may have come since the last pass
    bool known = true;  // whether gave_back_ is all of it
    const auto grows = [&](const Event& e) {
      grew = true;
      if (e.pieces.empty() || (e.what != What::end && e.what != What::lost)) known = false;
      for (const Piece& p : e.pieces) gave_back_.push_back(p.node);
    };
    form().begin(now, plan);
    for (const Event& e : now.events()) {
      switch (e.what) {
        case What::submit:
          if (plan.queue().contains(e.job) && !not_yet_.keeps(now, plan, e.job)) enter(now, e.job);
          break;
        case What::end:
          if (waiting_.contains(e.job)) leave(now, e.job);  // cancelled while it waited
          else uncharge(now, e.job), grows(e);
          break;
        case What::lost:
        case What::drained:
        case What::preempt:
          if (e.job < now.jobs() && plan.queue().contains(e.job) && !waiting_.contains(e.job)) {
            uncharge(now, e.job);
            if (!not_yet_.keeps(now, plan, e.job)) enter(now, e.job);
          }
          grows(e);
          break;
        case What::wake:
        case What::quota:
        case What::priority: break;
        default: grows(e);
      }
    }
    not_yet_.release(now, plan, [&](JobId j) { enter(now, j); });
    if (no_fit_ == NoFit::stop) pass_or_stop(now, plan);
    else pass_and_skip(now, plan, grew, known);
  }

 protected:
  void begin(const View&, Plan&) {}                         ///< before the events of a pass
  void chose(const View&, Plan&, uint32_t, JobId, bool) {}  ///< a user's job was chosen; whether it fits. Before took()
  /// The key of user `u` may be another one now.
  void refresh(const View& now, uint32_t u) {
    const User& user = users_[u];
    if (user.head != kNone) heads_.insert(now, u, user.shape, {form().key(now, u, user.head), user.head});
  }
  const Resources& amounts(const View& now, JobId j) const { return amounts_[now.job(j).shape]; }
  JobId head(uint32_t u) const { return users_[u].head; }
  size_t users() const { return users_.size(); }
  const IdSet& waiting() const { return waiting_; }

  Sharers sharers_;

 private:
  struct Waits {  // with its shape, so that whose turn it is can be told without a look at its claim, which nobody has read for long
    JobId id = kNone;
    ShapeId shape = 0;
    friend bool operator>(const Waits& a, const Waits& b) { return a.id > b.id; }
  };
  struct User {
    std::vector<Waits> jobs;  // a heap, the lowest id first; some wait no more
    JobId head = kNone;
    ShapeId shape = 0;        // of the head
  };
  struct Key {  // the share, then whose first job was submitted first
    Share share;
    int64_t head;  // as wide as the share's parts: keys are copied in whole words
    static constexpr Key nobody() { return {std::numeric_limits<Share>::max(), kNone}; }
    friend constexpr bool operator==(const Key& a, const Key& b) { return a.head == b.head && a.share == b.share; }
    friend constexpr bool operator<(const Key& a, const Key& b) { return a.share == b.share ? a.head < b.head : a.share < b.share; }
  };
  Form& form() { return static_cast<Form&>(*this); }
  void make_head(const View& now, uint32_t u, Waits next) {
    User& user = users_[u];
    if (user.head != kNone && (next.id == kNone || user.shape != next.shape)) heads_.erase(u, user.shape);
    if (next.id != kNone) fresh_.push_back(next.id);
    user.head = next.id, user.shape = next.shape;
    refresh(now, u);
  }
  void enter(const View& now, JobId j) {
    const Job& job = now.job(j);
    const uint32_t u = sharers_.of(job);
    waiting_.insert(j);
    fresh_.push_back(j);
    User& user = users_[u];
    user.jobs.push_back({j, job.shape});
    if (j < newest_) std::push_heap(user.jobs.begin(), user.jobs.end(), std::greater<>());
    else newest_ = j;  // greater than all in the heap, so that its place is the last
    if (j < user.head) make_head(now, u, {j, job.shape});  // kNone is greater than every id
  }
  void leave(const View& now, JobId j) {
    waiting_.erase(j);
    const uint32_t u = sharers_.of(now.job(j));
    User& user = users_[u];
    if (user.head != j) return;
    while (!user.jobs.empty() && !waiting_.contains(user.jobs[0].id)) {
      std::pop_heap(user.jobs.begin(), user.jobs.end(), std::greater<>());
      user.jobs.pop_back();
    }
    make_head(now, u, user.jobs.empty() ? Waits{} : user.jobs[0]);
  }
  /// What a job holds is fixed when it starts: nothing here resizes it.
  Resources& flexible(JobId j, size_t jobs) {
    if (flexible_.empty()) flexible_.resize(jobs);
    return flexible_[j];
  }
  void start(const View& now, Plan& plan, JobId j, Pieces at) {
    const uint32_t u = sharers_.of(now.job(j));
    const Shape& s = now.shape(j);
    form().chose(now, plan, u, j, true);
    charged_.insert(j);
    form().took(now, u, j, s.fixed ? amounts(now, j) : flexible(j, now.jobs()) = amounts_of(s, at));
    plan.start(j, at);
    leave(now, j);
  }
  void uncharge(const View& now, JobId j) {
    if (!charged_.contains(j)) return;
    charged_.erase(j);
    const uint32_t u = sharers_.of(now.job(j));
    form().gave(now, u, j, now.shape(j).fixed ? amounts(now, j) : flexible(j, now.jobs()));
    refresh(now, u);
  }

  void pass_or_stop(const View& now, Plan& plan) {
    JobId j = kNone;
    for (uint32_t u; (u = heads_.first()) != kNone; j = kNone) {
      j = users_[u].head;
      const Pieces at = placer_->find(now, plan, j);
      if (at.empty()) {
        form().chose(now, plan, sharers_.of(now.job(j)), j, false);
        plan.reason(j, placer_->why(now, plan, j));
        break;
      }
      start(now, plan, j, at);
    }
    for (const JobId f : fresh_)
      if (f != j && waiting_.contains(f)) plan.reason(f, Reason::behind_head);
  }

  void pass_and_skip(const View& now, Plan& plan, bool grew, bool known) {
    if (grew)
      heads_.forget_failures([&](ShapeId s, Reason why, bool group) {
        if (!known) return true;
        if (placer_->may_fit(now, plan, s, gave_back_, {0, group ? Placer::kAllKinds : uint8_t(0), false, false})) return true;
        const Shape& shape = now.shape_of(s);  // whether there is another reason now
        return why == Reason::no_gpus && plan.index().free_now_gpus() >= int64_t{shape.total_gpus} &&
               plan.index().free_now_milli() >= shape.total_milli();
      });
    for (uint32_t u; (u = heads_.first()) != kNone;) {
      const JobId j = users_[u].head;
      const ShapeId shape = users_[u].shape;
      // A shape that fitted nowhere in the last pass can fit only where devices came back since.
      const Reason before = heads_.failed_before(shape);
      const bool nowhere = before != Reason::none && known && !placer_->may_fit(now, plan, shape, gave_back_, {});
      if (const Pieces at = nowhere ? Pieces{} : placer_->find(now, plan, j); !at.empty()) {
        start(now, plan, j, at);
        continue;
      }
      const Reason r = nowhere ? before : placer_->why(now, plan, j);
      form().chose(now, plan, sharers_.of(now.job(j)), j, false);
      heads_.fail(shape, r, r == Reason::no_gpus || r == Reason::fragmented || r == Reason::type);
      plan.reason(j, r);
    }
    for (const JobId j : fresh_) {
      if (!waiting_.contains(j)) continue;
      const User& user = users_[sharers_.of(now.job(j))];
      plan.reason(j, user.head == j ? heads_.failed(user.shape) : Reason::behind_head);
    }
    heads_.end_pass();
  }

  NoFit no_fit_;
  std::unique_ptr<Placer> placer_;
  ShapeGroupsBy<Key> heads_;  // users, by their first waiting job
  NotYet not_yet_;
  IdSet waiting_, charged_;
  std::vector<User> users_;
  JobId newest_ = 0;                 // the greatest id that ever entered
  std::vector<Resources> amounts_;   // by shape
  std::vector<Resources> flexible_;  // by job, of shapes that are not fixed
  std::vector<JobId> fresh_;         // joined, or became first of their user, since the last pass
  std::vector<NodeId> gave_back_;
};

}  // namespace muster
